-- What runs: id, token, owner and end of the lease of each. ARGV: none.
local answers = {}
for _, id in ipairs(call('HVALS', P .. 'running')) do
  local e = load(id)
  answers[#answers + 1] = { id, e.token, e.owner or '', e.lease or '0' }
end
return answers
