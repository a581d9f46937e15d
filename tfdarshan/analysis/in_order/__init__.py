"""What is added up of calls that come block by block, in order of start, in bounded memory."""
