/* Only there to be loaded. */
int late(void);
int late(void)
{
    return 1;
}
