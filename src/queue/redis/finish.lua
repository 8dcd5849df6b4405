--[[
  running -> done, dead, cancelled or waiting, once, and only for the holder of the newest token.
  Given: entry id, token, how (done, dead, cancelled, retry), reason or false, due, attempts it costs. Answers 1, or 0: lost.
]]
local id, token, how, reason, due, attempts = ...
local e = held(id, token)
if not e then return 0 end
e[ATTEMPTS] = e[ATTEMPTS] + attempts
if how == 'retry' then waitAgain(e, due, reason) else leaveWorker(e, how, reason) end
return 1
