"""Features: flags a team may turn off and on. Owns table `team_features`."""
