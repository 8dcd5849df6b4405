-- The same for one entry, whatever it does. Given: entry id, reason.
local id, reason = ...
local e = load(id)
local became = cancel(e, reason)
return became and { { became, whole(e) } } or {}
