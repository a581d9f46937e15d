/* Calls the function of the library that it was linked against. */
int io_setup(int requests, void **context);

int set_up(int requests, void **context);
int set_up(int requests, void **context)
{
    return io_setup(requests, context);
}
