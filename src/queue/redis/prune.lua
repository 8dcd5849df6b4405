--[[
  Forgets ended entries with their events: those admitted before a time, and the oldest beyond a number; at most so many at once.
  ARGV: number to keep, admitted before, limit. Answers how many.
]]
local surplus = call('ZCARD', P .. 'ended') - tonumber(ARGV[1])
local oldest = call('ZRANGE', P .. 'ended', 0, tonumber(ARGV[3]) - 1, 'WITHSCORES')
local removed = 0
for at = 1, #oldest, 2 do
  if removed >= surplus and tonumber(oldest[at + 1]) >= tonumber(ARGV[2]) then break end
  local e = load(oldest[at])
  for event in string.gmatch(e.events or '', '[^\n]+') do call('HDEL', P .. 'events', event) end
  reindex(e, e.status, nil)
  call('ZREM', P .. 'ids', e.id)
  call('DEL', key(e.id), changeKey(e.id))
  removed = removed + 1
end
return removed
