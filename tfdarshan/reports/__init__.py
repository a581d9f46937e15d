"""What people are shown: text for the terminal, pages for the browser, and what these are made of."""
