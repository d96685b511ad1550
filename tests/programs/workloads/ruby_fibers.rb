# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ruby_fibers.rb SECONDS (of CPU time): functions whose callers are known, as in ruby_frames.rb, of
# the main stack and of fibers. A fiber's functions are NAME__fiber and NAME__other; each fiber
# begins with one of these two. Most of the time is spent in switches.

def spin(count)
  sum = 0
  count.times { |i| sum += i }
  sum
end

def fiber(number)
  loop do
    yield__fiber(number)
  end
end

def yield__fiber(number)
  spin(3)
  Fiber.yield number
end

def other(first)
  yielder__other(first)
end

def yielder__other(first)
  loop do
    spin(2)
    first << 1
  end
end

def resume__main(fibers)
  fibers.each(&:resume)
end

def next__main(enumerator)
  20.times { enumerator.next }
end

def main(seconds)
  fibers = (1..5).map { |n| Fiber.new { fiber(n) } }
  enumerator = Enumerator.new { |y| other(y) }
  stop = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + seconds
  while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < stop
    resume__main(fibers)
    next__main(enumerator)
    Fiber.new { fiber(0) }.resume
  end
end

main((ARGV[0] || 2).to_f)
