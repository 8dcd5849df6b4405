--[[
  running -> done, dead, cancelled or waiting, once, and only for the holder of the newest token.
  ARGV: entry id, token, how (done, dead, cancelled, retry), reason or '', due, attempts it costs. Answers 1, or 0: lost.
]]
local e = held(ARGV[1], ARGV[2])
if not e then return 0 end
local how, reason = ARGV[3], ARGV[4] ~= '' and ARGV[4] or false
local fields = { attempts = string.format('%d', tonumber(e.attempts) + tonumber(ARGV[6])) }
if how == 'retry' then
  waitAgain(e, ARGV[5], reason or '', fields)
else
  fields.reason = reason
  move(e, how, ending(fields))
end
return 1
