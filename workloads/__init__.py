"""Real training jobs to profile: data generators and the jobs themselves."""
