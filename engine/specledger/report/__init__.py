"""Reports of verified evidence, of verifications and of findings. Nothing is run."""
