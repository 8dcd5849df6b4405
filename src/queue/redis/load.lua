-- The active entries of a workspace, in the order of their ids. ARGV: workspace.
local ids = call('SMEMBERS', P .. 'active:' .. ARGV[1])
table.sort(ids)
local answers = {}
for i, id in ipairs(ids) do answers[i] = whole(id) end
return answers
