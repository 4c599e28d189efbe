// What holds precompiled headers needs a source; it has nothing of its own.
