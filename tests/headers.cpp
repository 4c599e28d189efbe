// Its precompiled headers are those of the tests; it has nothing of its own.
