/* Defines the same function as libcontexts.c, to another effect. */
int io_setup(int requests, void **context);
int io_setup(int requests, void **context)
{
    (void)context;
    return requests;
}
