--[[
  waiting -> expired, for what may expire and was admitted before the time of its workspace; looks at so many at once.
  Given: the latest of these times, that of workspaces that are not named or false for never, those that are named with theirs or false,
  reason, where to go on, limit.
  Returns how many it looked at, how many of them stay, and the entries that expired as they are now.
]]
local latest, others, named, reason, from, limit = ...
local own = {}
for at = 1, #named, 2 do own[named[at]] = named[at + 1] end
local ids = call('ZRANGEBYSCORE', P .. 'expiring', '-inf', '(' .. string.format('%d', latest), 'LIMIT', from, limit)
fetch(entries, ids)
fetch(details, ids)
local stay, expired = 0, {}
for _, id in ipairs(ids) do
  local e = indexed(id)
  local before = own[e[WS]]
  if before == nil then before = others end
  if e[STATUS] ~= 'waiting' then
    rank('expiring', id, false)
  elseif before and e[ADMITTED] < before then
    e[REASON] = reason
    move(e, 'expired')
    expired[#expired + 1] = whole(e)
  else
    stay = stay + 1
  end
end
return { #ids, stay, expired }
