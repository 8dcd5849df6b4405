--[[
  Ends an entry that the service cannot decode, although it looks well here (damage.lua).
  Given: entry id, why. Returns the entry as it is now.
]]
local id, why = ...
return whole(quarantine(id, why, true))
