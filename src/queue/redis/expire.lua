--[[
  waiting -> expired, for what may expire and was admitted before a time; at most so many at once.
  Given: admitted before, reason, limit. Answers the entries as they are now.
]]
local before, reason, limit = ...
local ids = call('ZRANGEBYSCORE', P .. 'expiring', '-inf', '(' .. string.format('%d', before), 'LIMIT', 0, limit)
fetch(entries, ids)
fetch(details, ids)
local answers = {}
for i, id in ipairs(ids) do
  local e = load(id)
  e[REASON] = reason
  move(e, 'expired')
  answers[i] = whole(e)
end
return answers
