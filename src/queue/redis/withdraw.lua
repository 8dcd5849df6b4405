-- ready -> waiting, for those that are ready. Given: entry ids.
local ids = ...
for _, id in ipairs(ids) do
  local e = load(id)
  if e and e[STATUS] == 'ready' then move(e, 'waiting') end
end
return true
