--[[
  Ends what waits for a target and asks the worker of what runs, in one step: nothing slips from one into the other.
  Given: target, reason. Answers pairs of `ended` or `stopping` and the entry as it is now.
]]
local target, reason = ...
local answers = {}
local waits, runs = activeOf(target)
for _, e in pairs({ waits, runs }) do
  local became = cancel(e, reason)
  if became then answers[#answers + 1] = { became, whole(e) } end
end
return answers
