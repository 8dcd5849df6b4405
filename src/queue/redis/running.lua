-- What runs: id, token, owner and end of the lease of each. Given: none.
local ids = call('HVALS', runs.key)
fetch(entries, ids)
local answers = {}
for i, id in ipairs(ids) do
  local e = load(id)
  answers[i] = { id, e[TOKEN], e[OWNER], e[LEASE] }
end
return answers
