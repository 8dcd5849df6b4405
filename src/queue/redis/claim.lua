--[[
  ready -> running, for one caller only, with the next fencing token. While an entry is ready, no other of its target runs (release.lua).
  Given: entry id, owner, end of the lease. Answers the entry without its details, or nothing.
]]
local id, owner, lease = ...
local e = load(id)
if not e or e[STATUS] ~= 'ready' then return false end
e[OWNER], e[LEASE], e[TOKEN] = owner, lease, e[TOKEN] + 1
move(e, 'running')
return packed(entries, id)
