int host_part(int value)
{
	return value % 10;
}
