--[[
  Takes entries back from workers that are gone: they wait again, or are dead after too many of them, or cancelled if that was
  asked for. Only what still runs under the token that the caller saw.
  ARGV: now, losses that make dead, then per entry: id, token, whether its owner is known to be gone (1 or 0).
  Answers the entries as they are now.
]]
local now, most = ARGV[1], tonumber(ARGV[2])
local answers = {}
for at = 3, #ARGV, 3 do
  local e = held(ARGV[at], ARGV[at + 1])
  if e and (ARGV[at + 2] == '1' or tonumber(e.lease) <= tonumber(now)) then
    local losses = tonumber(e.losses) + 1
    local fields = { losses = string.format('%d', losses) }
    local reason = losses == 1 and 'its worker was lost' or string.format('its worker was lost, %d times', losses)
    if losses >= most and not e.cancel then
      fields.reason = reason
      move(e, 'dead', ending(fields))
    else
      waitAgain(e, now, reason, fields)
    end
    answers[#answers + 1] = whole(e)
  end
end
return answers
