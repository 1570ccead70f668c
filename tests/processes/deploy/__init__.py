"""What is installed: units, container, wheel, bill of materials."""
