"""Files written whole, copied and compared, at a bounded rate."""
