--[[
  What the script is to do. ARGV has per transition: its name, how many texts belong to it and what else it is given, packed after each
  other; then these texts.
]]
local calls, called, at = {}, {}, 1
while at <= #ARGV do
  local given = { cmsgpack.unpack(ARGV[at]) }
  if given[2] > 0 then
    local texts = {}
    for i = 1, given[2] do texts[i] = ARGV[at + i] end
    given[#given + 1] = texts
  end
  calls[#calls + 1] = given
  called[given[1]] = true
  at = at + 1 + given[2]
end
