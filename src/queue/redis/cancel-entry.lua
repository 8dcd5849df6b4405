-- The same for one entry, whatever it does. ARGV: entry id, reason.
local e = load(ARGV[1])
local became = cancel(e, ARGV[2])
if not became then return {} end
return { { became, whole(e) } }
