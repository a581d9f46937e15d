int marker(void);
int marker(void)
{
    return 2;
}
