-- The active entries of a workspace, in the order of their ids. ARGV: workspace.
local ws = ARGV[1]
local ids = call('HKEYS', P .. 'out:' .. ws)
local function take(waiting)
  for _, id in ipairs(call('ZRANGE', waiting, 0, -1)) do ids[#ids + 1] = id end
end
take(P .. 'later:' .. ws)
for _, name in ipairs(call('ZRANGE', P .. 'lanes:' .. ws, 0, -1)) do take(P .. 'lane:' .. ws .. ':' .. name) end
table.sort(ids)
local answers = {}
for i, id in ipairs(ids) do answers[i] = whole(load(id)) end
return answers
