"""A small population of logs with culprits in it, written once, and its catalogue."""

import pytest

from tests.fleet_population import write_population
from tfdarshan.fleet.catalogue_folder import CatalogueFolder
from tfdarshan.fleet.catalogue_update import update
from tfdarshan.fleet.input_list import find_inputs
from tfdarshan.fleet.job_table import job_table
from tfdarshan.partials.serial import SERIAL

JOBS = 400


@pytest.fixture(scope="session")
def population(tmp_path_factory):
    return write_population(tmp_path_factory.mktemp("population"), JOBS)


@pytest.fixture(scope="session")
def folder(population):
    return next(parent for parent in population.jobs[0].path.parents if parent.name.startswith("population"))


@pytest.fixture(scope="session")
def table(folder, tmp_path_factory):
    catalogue = CatalogueFolder(tmp_path_factory.mktemp("catalogue"))
    return update(catalogue, find_inputs([str(folder)]), SERIAL).table


@pytest.fixture(scope="session")
def jobs(table):
    return job_table(table)
