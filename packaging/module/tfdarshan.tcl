#%Module1.0
# For sites: verbs for everybody, and the wheel for everybody's own environments. Install both once:
#
#   python3 -m venv /sw/tfdarshan/0.1.0
#   /sw/tfdarshan/0.1.0/bin/pip install --find-links dist 'tfdarshan[view]'
#   mkdir /sw/tfdarshan/0.1.0/commands /sw/tfdarshan/0.1.0/wheels
#   ln -s ../bin/tfdarshan /sw/tfdarshan/0.1.0/commands/
#   cp dist/*.whl /sw/tfdarshan/0.1.0/wheels/
#   cp packaging/module/tfdarshan.tcl /sw/modulefiles/tfdarshan/0.1.0
#
# The environment's bin/ is not in PATH: its python would stand before the job's own.
set root /sw/tfdarshan/[file tail [module-info name]]

module-whatis "file I/O of training jobs: tfdarshan summary, findings, report"

proc ModulesHelp {} {
    puts stderr "`tfdarshan --help` lists the verbs. To record, run `pip install tfdarshan` in your job's own environment:"
    puts stderr "this module names the wheel to pip."
}

prepend-path PATH $root/commands
append-path --delim " " PIP_FIND_LINKS $root/wheels
# If the site has Darshan, sessions count with its library as well:
# setenv TFDARSHAN_DARSHAN_LIBRARY /sw/darshan/lib/libdarshan.so
