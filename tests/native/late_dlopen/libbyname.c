/* No library needs it, so it is not loaded yet when libouter asks for it: only libouter's RUNPATH leads to it. */
int found_by_name(void);
int found_by_name(void)
{
    return 3;
}
