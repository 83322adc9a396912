/* What programs use of helper_timer.h of NVIDIA's samples, where that is not installed: clocks of
 * the host, in milliseconds. */
#ifndef PMPP_HELPER_TIMER_H
#define PMPP_HELPER_TIMER_H

#include <chrono>

class StopWatchInterface
{
  public:
	virtual ~StopWatchInterface() {}
	virtual void start()
	{
		began = std::chrono::steady_clock::now();
		runs = true;
	}
	virtual void stop()
	{
		last = since();
		total += last;
		times++;
		runs = false;
	}
	virtual void reset()
	{
		total = last = 0;
		times = 0;
		began = std::chrono::steady_clock::now();
	}
	virtual float getTime()
	{
		return total + (runs ? since() : 0);
	}
	virtual float getAverageTime()
	{
		return times ? total / times : 0;
	}

  private:
	float since() const
	{
		const std::chrono::duration<float, std::milli> d = std::chrono::steady_clock::now() - began;
		return d.count();
	}
	std::chrono::steady_clock::time_point began;
	float total = 0, last = 0;
	unsigned times = 0;
	bool runs = false;
};

inline bool sdkCreateTimer(StopWatchInterface **timer)
{
	*timer = new StopWatchInterface;
	return true;
}
inline bool sdkDeleteTimer(StopWatchInterface **timer)
{
	delete *timer;
	*timer = nullptr;
	return true;
}
inline bool sdkStartTimer(StopWatchInterface **timer)
{
	(*timer)->start();
	return true;
}
inline bool sdkStopTimer(StopWatchInterface **timer)
{
	(*timer)->stop();
	return true;
}
inline bool sdkResetTimer(StopWatchInterface **timer)
{
	(*timer)->reset();
	return true;
}
inline float sdkGetTimerValue(StopWatchInterface **timer)
{
	return (*timer)->getTime();
}
inline float sdkGetAverageTimerValue(StopWatchInterface **timer)
{
	return (*timer)->getAverageTime();
}

#endif
