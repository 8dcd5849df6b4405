--[[
  What runs: id, token, owner and end of the lease of each, some workspaces at a time.
  Given: where to go on (0: from the start), about how many workspaces. Answers where the next page starts, or 0 after the last, and these.
]]
local from, some = ...
local page = call('HSCAN', workspaces.key, from, 'COUNT', some)
local ids = {}
for at = 1, #page[2], 2 do
  local name = page[2][at]
  if name ~= '' then
    if workspaces.known[name] == nil then workspaces.known[name] = page[2][at + 1] end
    for _, id in ipairs(workspace(name)[W_OUT]) do ids[#ids + 1] = id end
  end
end
fetch(entries, ids)
local answers = {}
for _, id in ipairs(ids) do
  local e = indexed(id)
  if e[STATUS] == 'running' then answers[#answers + 1] = { id, e[TOKEN], e[OWNER], e[LEASE] } end
end
return { page[1], answers }
