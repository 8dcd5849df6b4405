-- One entry, or nothing. Given: entry id.
local id = ...
local e = load(id)
return e and whole(e)
