--[[
  waiting -> expired, for what may expire and was admitted before a time; at most so many at once.
  ARGV: admitted before, reason, limit. Answers the entries as they are now.
]]
local answers = {}
for _, id in ipairs(call('ZRANGEBYSCORE', P .. 'expiring', '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[3])) do
  local e = load(id)
  move(e, 'expired', { reason = ARGV[2] })
  answers[#answers + 1] = whole(e)
end
return answers
