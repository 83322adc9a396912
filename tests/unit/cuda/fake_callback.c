/* The stand-in's CUPTI: callbacks in front of a launch and behind it. */
#include "fake_nvidia.h"

#include <cupti_driver_cbid.h>

static CUpti_CallbackFunc subscriber;
static void *user;
static int launches_on;

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc f, void *data)
{
	CP(cuptiSubscribe);
	subscriber = f;
	user = data;
	*handle = (CUpti_SubscriberHandle)&launches_on;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	(void)handle;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
		launches_on = on != 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext c, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	(void)c;
	(void)per_thread;
	*id = fake_stream_number(stream);
	return CUPTI_SUCCESS;
}

void fake_call(const char *kernel, const void *parameters, const CUresult *result)
{
	static unsigned number;
	if (!result)
		number = fake_correlation();
	const CUpti_CallbackData data = {
		.callbackSite = result ? CUPTI_API_EXIT : CUPTI_API_ENTER,
		.functionName = "cuLaunchKernel",
		.functionParams = parameters,
		.functionReturnValue = (void *)(uintptr_t)result,
		.symbolName = kernel,
		.context = (CUcontext)&fake_state.sticky,
		.correlationId = number,
	};
	if (launches_on)
		subscriber(user, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
}
