--[[
  Takes entries back from workers that are gone: they wait again, or are dead after too many of them, or cancelled if that was
  asked for. Only what still runs under the token that the caller saw.
  Given: now, losses that make dead, and per entry: id, token, whether its owner is known to be gone.
  Answers the entries as they are now.
]]
local now, most, gone = ...
local answers = {}
for _, one in ipairs(gone) do
  local e = held(one[1], one[2])
  if e and (one[3] or e[LEASE] <= now) then
    local losses = e[LOSSES] + 1
    e[LOSSES] = losses
    local reason = losses == 1 and 'its worker was lost' or string.format('its worker was lost, %d times', losses)
    if losses >= most and not e[CANCEL] then leaveWorker(e, 'dead', reason) else waitAgain(e, now, reason) end
    answers[#answers + 1] = whole(e)
  end
end
return answers
