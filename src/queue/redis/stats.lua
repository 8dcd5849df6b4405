--[[
  Entries by status, and the admission of the oldest that waits. Looks at so many of `begun` at most, or at as many of `waiting` and
  removes those that no longer do.
  Given: most to look at. Answers how many by status; the admission or ''; and 1 when there is more to look at.
]]
local most = ...
local many, by = counts(), {}
if uncounted then
  recount()
  many = counts()
end
for status, at in pairs(COUNTED) do by[#by + 1] = { status, many[at] } end

if settle(most) then return { by, '', 1 } end
local waits = call('ZRANGE', P .. 'waiting', 0, most - 1, 'WITHSCORES')
local ids = {}
for at = 1, #waits, 2 do ids[#ids + 1] = waits[at] end
fetch(entries, ids)
for i, id in ipairs(ids) do
  local e = load(id)
  if e and e[STATUS] == 'waiting' then return { by, tonumber(waits[2 * i]), 0 } end
  rank('waiting', id, false)
end
return { by, '', #ids == most and 1 or 0 }
