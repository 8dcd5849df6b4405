--[[
  Ends what waits for a target and asks the worker of what runs, in one step: nothing slips from one into the other.
  ARGV: target, reason. Answers pairs of `ended` or `stopping` and the entry as it is now.
]]
local answers = {}
for _, e in ipairs({ nextOf(ARGV[1]) or false, runningOf(ARGV[1]) or false }) do
  local became = cancel(e, ARGV[2])
  if became then answers[#answers + 1] = { became, whole(e) } end
end
return answers
