-- ready -> waiting, for those that are ready. ARGV: entry ids.
for _, id in ipairs(ARGV) do
  local e = load(id)
  if e and e.status == 'ready' then move(e, 'waiting', {}) end
end
