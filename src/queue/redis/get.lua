-- One entry, or nothing. ARGV: entry id.
local e = load(ARGV[1])
return e and whole(e)
