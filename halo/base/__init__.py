"""What all rooms use: errors, settings, files, the console, JSON documents."""
