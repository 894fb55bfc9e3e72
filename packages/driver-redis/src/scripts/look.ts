/** What changes nothing. */

/**
 * Words: 1 `all` where the queues given have to be all there are. Answers with three lists: how many jobs could be
 * reserved now; of queues with levels that the script was not given name, number of levels, levels; for `all`, the
 * queues that there are. Where one of the latter two says something new, the first is short.
 */
export const PENDING = `
local now, isAll, pending, levelsOf = word(2), word(1) == 'all', 0, {}
for _, queue in ipairs(queues) do
  local levels, isKnown = call('ZREVRANGE', queue.levels, 0, -1), true
  for _, priority in ipairs(levels) do
    local level = queue.known[priority]
    if level then
      local unclaimed = call('XLEN', level.ready) - call('ZCOUNT', level.claims, '(' .. now, '+inf')
      -- Below zero where somebody has deleted the entries of claimed ones.
      pending = pending + math.max(0, unclaimed) + call('ZCOUNT', level.delayed, '-inf', now)
    else
      isKnown = false
    end
  end
  if not isKnown then
    levelsOf[#levelsOf + 1] = queue.name
    levelsOf[#levelsOf + 1] = whole(#levels)
    for _, priority in ipairs(levels) do levelsOf[#levelsOf + 1] = priority end
  end
end
return { { pending }, levelsOf, isAll and call('SMEMBERS', QUEUES) or {} }
`;

/**
 * Words: 1 the id. Answers with what is stored of a job: queue, priority, name, payload, max attempts, created, attempts,
 * entry, due, unique key, worker, error, deadline of its claim. With nothing where it is not there, or was never claimed,
 * delayed or moved: then it is an entry of some stream.
 */
export const FIND = `
local id = word(1)
local state = readState(id)
if not state then return {} end
local name, priority = string.match(call('HGET', JOBS, id .. ':text') or '', TEXT)
for _, queue in ipairs(queues) do
  for _, level in pairs(queue.known) do
    local deadline = call('ZSCORE', level.claims, id)
    local job = (deadline or queue.name == name and level.priority == priority) and readJob(level, id, state.entry)
    if job then
      return { queue.name, level.priority, job.name, job.payload, job.max, job.created, state.attempts, state.entry,
        state.due, state.unique, state.worker, call('HGET', JOBS, id .. ':error') or '', deadline or '' }
    end
  end
end
return {}
`;

/**
 * Looks through a page of the stream of one level. Words: 1 after which entry (`-`: from the first), 2 how many, 3 the id
 * looked for, 4 the entry before which to stop (`+`: none). Answers with how many entries there were before that, the last
 * of them (nothing: there are no more), and as FIND does with the job of the id, if it is among them.
 */
export const SCAN = `
local level, after, id = queues[1].only, word(1), word(3)
local from = after == '-' and '-' or '(' .. after
local to = word(4) == '+' and '+' or '(' .. word(4)
local entries = call('XRANGE', level.ready, from, to, 'COUNT', word(2))
for _, entry in ipairs(entries) do
  local fields = pairsIn(entry[2])
  if fields.id == id and fields.payload then
    local job = jobOf(fields)
    return { #entries, '', level.queue.name, level.priority, job.name, job.payload, job.max, job.created, '0', entry[1],
      job.created, job.unique, '', '', '' }
  end
end
return { #entries, #entries > 0 and entries[#entries][1] or '' }
`;

/**
 * How many jobs of its queue go before one that could be reserved now, but for those before it in its stream. Words: 1
 * the id, 2 its priority, 3 now, 4 where it is: `claims`, `ready` or `delayed`.
 */
export const AHEAD = `
local id, own, now, where = word(1), word(2), word(3), word(4)
local ahead = 0
for _, level in pairs(queues[1].known) do
  local ready, claims = call('XLEN', level.ready), call('ZCARD', level.claims)
  local expired = call('ZCOUNT', level.claims, '-inf', now)
  if tonumber(level.priority) > tonumber(own) then
    ahead = ahead + ready - claims + expired + call('ZCOUNT', level.delayed, '-inf', now)
  elseif level.priority == own and where == 'claims' then
    ahead = ahead + (call('ZRANK', level.claims, id) or 0)
  elseif level.priority == own and where == 'delayed' then
    ahead = ahead + ready - claims + expired + (call('ZRANK', level.delayed, id) or 0)
  elseif level.priority == own then
    -- The claimed ones come first in the stream, and are counted there.
    ahead = ahead - claims + expired
  end
end
return ahead
`;

/** Words: 1 the id. Answers with when it failed, queue, name, payload, attempts, error; with nothing where it is not there. */
export const FIND_FAILED = `
local id = word(1)
local at = call('ZSCORE', FAILED, id)
if not at then return {} end
local row = call('HMGET', FAILED_JOBS, id .. ':queue', id .. ':name', id .. ':payload', id .. ':attempts', id .. ':error')
return { at, row[1] or '', row[2] or '', row[3] or '', row[4] or '0', row[5] or '' }
`;
