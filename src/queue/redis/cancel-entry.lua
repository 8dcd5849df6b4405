-- The same for one entry, whatever it does. ARGV: entry id, reason.
local became = cancel(load(ARGV[1]), ARGV[2])
if not became then return {} end
return { { became, whole(ARGV[1]) } }
