--[[
  Extends a lease, only for the holder of the newest token.
  Given: entry id, token, end of the lease. Answers `lost`, `kept`, or `cancelled` and the reason.
]]
local id, token, lease = ...
local e = held(id, token)
if not e then return { 'lost' } end
e[LEASE] = lease
save(e)
if e[CANCEL] then return { 'cancelled', e[CANCEL] } end
return { 'kept' }
