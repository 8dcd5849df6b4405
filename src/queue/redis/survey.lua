--[[
  What the next decision about a workspace can depend on (Queue.survey). Entries that became due move from `later` to their lane.
  ARGV: workspace, now, places. Answers paused (1 or 0), next due time or '', and what is out and what is due: of each its
  id, status, target, repo, priority, admission, due time.
]]
local ws, now, places = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local later, lanes = P .. 'later:' .. ws, P .. 'lanes:' .. ws
for _, id in ipairs(call('ZRANGEBYSCORE', later, '-inf', ARGV[2], 'LIMIT', 0, 1000)) do
  toLane(load(id))
  call('ZREM', later, id)
end

local out, busy = {}, {}
for _, packed in ipairs(call('HVALS', P .. 'out:' .. ws)) do
  local one = cmsgpack.unpack(packed)
  busy[one[3]] = true
  out[#out + 1] = one
end
places = places - #out

local due, urgency = {}, nil
local names = places > 0 and call('ZRANGE', lanes, 0, -1, 'WITHSCORES') or {}
for at = 1, #names, 2 do
  local name, priority = names[at], tonumber(names[at + 1])
  if urgency and priority > urgency and #due >= places then break end
  local waiting = P .. 'lane:' .. ws .. ':' .. name
  local again = true
  while again do
    again = false
    local first = call('ZRANGE', waiting, 0, places + #out - 1)
    if #first == 0 then
      call('ZREM', lanes, name)
      known[ws .. ' ' .. name] = nil
    end
    local found, early = {}, {}
    for _, id in ipairs(first) do
      if #found == places then break end
      local e = load(id)
      if tonumber(e.due) > now then
        early[#early + 1] = e
      elseif not busy[e.target] then
        found[#found + 1] = light(e)
      end
    end
    -- The clock was set back since they were due.
    for _, e in ipairs(early) do
      call('ZREM', waiting, e.id)
      call('ZADD', later, e.due, e.id)
      again = true
    end
    if not again then
      for _, one in ipairs(found) do due[#due + 1] = one end
    end
  end
  urgency = priority
end

local following = call('ZRANGE', later, 0, 0, 'WITHSCORES')
return { call('HEXISTS', P .. 'pauses', 'workspace:' .. ws), following[2] or '', out, due }
