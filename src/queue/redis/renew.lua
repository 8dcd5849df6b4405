--[[
  Extends a lease, only for the holder of the newest token.
  ARGV: entry id, token, end of the lease. Answers `lost`, `kept`, or `cancelled` and the reason.
]]
local e = held(ARGV[1], ARGV[2])
if not e then return { 'lost' } end
set(e, { lease = ARGV[3] })
if e.cancel then return { 'cancelled', e.cancel } end
return { 'kept' }
