--[[
  What the script is to do. ARGV[1] has per transition: its name, how many texts belong to it, how many values it is given and these,
  packed after each other; then come all texts, in the same order.
]]
local calls, called = {}, {}
local all, text = { cmsgpack.unpack(ARGV[1]) }, 1
local at, size = 1, #all
while at <= size do
  local name, texts, last = all[at], all[at + 1], at + 2 + all[at + 2]
  local given = { unpack(all, at, last) }
  if texts > 0 then
    local its = {}
    for i = 1, texts do its[i] = ARGV[text + i] end
    given[#given + 1] = its
    text = text + texts
  end
  calls[#calls + 1] = given
  called[name] = true
  at = last + 1
end
