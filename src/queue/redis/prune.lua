--[[
  Forgets ended entries with their events: those admitted before a time, and the oldest beyond a number; at most so many at once.
  Given: number to keep, admitted before, limit. Answers how many.
]]
local most, before, limit = ...
local surplus = call('ZCARD', P .. 'ended') - most
local oldest = call('ZRANGE', P .. 'ended', 0, limit - 1, 'WITHSCORES')
local ids = {}
for at = 1, #oldest, 2 do
  if #ids >= surplus and tonumber(oldest[at + 1]) >= before then break end
  ids[#ids + 1] = oldest[at]
end
fetch(entries, ids)
fetch(details, ids)
for _, id in ipairs(ids) do
  local e = indexed(id)
  for event in string.gmatch(detailOf(e)[EVENTS], '[^\n]+') do put(events, event, false) end
  reindex(e, e[STATUS], nil)
  rank('ids', id, false)
  rank('waiting', id, false)
  keep(entries, id, false)
  keep(details, id, false)
end
settle(limit)
return #ids
