--[[
  Runs transitions in order. One that fails says so and holds up no other.
  ARGV of the script: per transition its name, how many arguments it has, and these. Answers per transition 1 and its answer, or 0
  and the error.
]]
local answers, at = {}, 1
while at <= #ARGV do
  local name, count = ARGV[at], tonumber(ARGV[at + 1])
  local args = {}
  for i = 1, count do args[i] = ARGV[at + 1 + i] end
  at = at + 2 + count
  local ok, answer = pcall(TRANSITIONS[name], args)
  if ok then
    answers[#answers + 1] = { 1, answer or false }
  else
    answers[#answers + 1] = { 0, type(answer) == 'table' and answer.err or tostring(answer) }
  end
end
for name, sum in pairs(sums) do
  for field, by in pairs(sum) do
    if by ~= 0 and call('HINCRBY', P .. name, field, by) == 0 then call('HDEL', P .. name, field) end
  end
end
return answers
