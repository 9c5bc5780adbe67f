"""InfoQuest for trainers built on other contracts; each adapter needs its own extra."""
